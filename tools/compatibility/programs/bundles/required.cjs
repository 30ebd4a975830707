exports.core = require('@tokenwell/core')
