export { instrumentTokens, type InstrumentTokensOptions } from './instrument-tokens.ts'
