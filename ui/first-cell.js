// The parts of a cell that are seen first: see first-parts.js.

import './parts/attention-map.js';
import './parts/cell-headline.js';
import './parts/head-picker.js';
import './parts/map-legend.js';
import './parts/step-vectors.js';
import './parts/to-working.js';
import './parts/token-ribbon.js';
