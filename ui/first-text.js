// The parts of the tab of the text: see first-parts.js.

import './parts/text-choice.js';
import './parts/text-pins.js';
import './parts/text-view.js';
