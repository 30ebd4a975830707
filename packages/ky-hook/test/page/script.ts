import { backendTokens } from '@tokenwell/core'
import { tokenHooks } from '@tokenwell/ky-hook'
import ky from 'ky'

// As a page's own script would; the tests use it in the page.
const tokens = backendTokens({ url: '/token' })
const page = { ky, tokenHooks, tokens }
Object.assign(globalThis, { page })

export type PageScript = typeof page
