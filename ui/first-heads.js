// The parts of the tab of heads: see first-parts.js.

import './parts/head-card.js';
import './parts/head-grid.js';
import './parts/head-patterns.js';
import './parts/heads-headline.js';
