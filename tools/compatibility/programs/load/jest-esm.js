// Jest runs ES modules behind this flag.
const { execFileSync } = require('node:child_process')

execFileSync(
  process.execPath,
  [
    '--experimental-vm-modules',
    '--disable-warning=ExperimentalWarning',
    'node_modules/jest/bin/jest.js',
    '--config=jest.esm.config.js',
  ],
  { stdio: 'inherit' },
)
