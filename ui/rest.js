// The parts of the page that are not seen first: see main.js.

import './parts/column-listeners.js';
import './parts/head-card.js';
import './parts/head-facts.js';
import './parts/head-grid.js';
import './parts/head-patterns.js';
import './parts/heads-headline.js';
import './parts/projection-board.js';
import './parts/run-facts.js';
import './parts/step-budget.js';
import './parts/step-mask.js';
import './parts/step-mix.js';
import './parts/step-scale.js';
import './parts/step-softmax.js';
import './parts/text-choice.js';
import './parts/text-pins.js';
import './parts/text-view.js';
