export { instrumentTokens, type InstrumentTokensOptions } from './instrument-tokens.ts'
export {
  instrumentVerifier,
  type InstrumentVerifierOptions,
  type ObservableVerifier,
  type ObservedVerification,
} from './instrument-verifier.ts'
