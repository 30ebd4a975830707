import { tokenHooks } from '@tokenwell/ky-hook'
import ky from 'ky'
import { tokens } from './program.mjs'

export const api = ky.extend(tokenHooks(tokens, { allowedOrigins: ['https://api.example.com'] }))
