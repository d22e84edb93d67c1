// All parts of the page, of which those that are seen first are there already: see main.js.

import './first-cell.js';
import './first-heads.js';
import './first-text.js';
import './parts/column-listeners.js';
import './parts/head-facts.js';
import './parts/projection-board.js';
import './parts/run-facts.js';
import './parts/step-budget.js';
import './parts/step-mask.js';
import './parts/step-mix.js';
import './parts/step-scale.js';
import './parts/step-softmax.js';
