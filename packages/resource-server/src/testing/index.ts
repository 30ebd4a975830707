export { createTestVerifier, type TestVerifier, type TestTokenOptions } from './create-test-verifier.ts'
