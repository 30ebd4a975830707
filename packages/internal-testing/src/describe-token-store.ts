import type { TokenStore } from '@tokenwell/core'
import { tokenStoreTests, type TokenStoreTestOptions } from '@tokenwell/core/testing'
import { describe, it } from 'vitest'

/** Defines the tests that every token store passes. */
export function describeTokenStore(
  name: string,
  createStore: () => TokenStore | Promise<TokenStore>,
  options: TokenStoreTestOptions = {},
): void {
  describe(`${name}: contract of a token store`, () => {
    it.each(tokenStoreTests(createStore, options))('$title', ({ run }) => run())
  })
}
