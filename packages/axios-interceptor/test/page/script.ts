import { attachTokens } from '@tokenwell/axios-interceptor'
import { backendTokens, createTokenProvider } from '@tokenwell/core'
import * as axios from 'axios'

// What a page's own script would do; the tests take it from here.
const tokens = createTokenProvider(backendTokens({ url: '/token' }))
const page = { axios, attachTokens, tokens }
Object.assign(globalThis, { page })

export type PageScript = typeof page
