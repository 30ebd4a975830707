export {
  createTestTokenProvider,
  type TestTokenProvider,
  type TestTokenProviderOptions,
} from './testing/test-token-provider.ts'
