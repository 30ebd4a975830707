import { backendTokens, createTokenProvider } from '@tokenwell/core'
import { tokenHooks } from '@tokenwell/ky-hook'
import ky from 'ky'

// What a page's own script would do; the tests take it from here.
const tokens = createTokenProvider(backendTokens({ url: '/token' }))
const page = { ky, tokenHooks, tokens }
Object.assign(globalThis, { page })

export type PageScript = typeof page
