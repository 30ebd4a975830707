import { program } from './program.js'

globalThis.program = program
