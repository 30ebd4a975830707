export { createTestTokenProvider, type TestTokenProviderOptions } from './testing/test-token-provider.ts'
