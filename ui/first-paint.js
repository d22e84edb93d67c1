// Runs before anything is drawn, so that a dark page does not begin with a white flash: the theme
// is the one chosen before, or else the system's.
(() => {
  let kept = null;
  try {
    kept = localStorage.getItem('attnscope-theme');
  } catch {
    // Storage may be off.
  }
  const system = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
  document.documentElement.dataset.theme = kept === 'light' || kept === 'dark' ? kept : system;
})();
