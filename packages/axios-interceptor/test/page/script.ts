import { attachTokens } from '@tokenwell/axios-interceptor'
import { backendTokens } from '@tokenwell/core'
import * as axios from 'axios'

// As a page's own script would; the tests use it in the page.
const tokens = backendTokens({ url: '/token' })
const page = { axios, attachTokens, tokens }
Object.assign(globalThis, { page })

export type PageScript = typeof page
