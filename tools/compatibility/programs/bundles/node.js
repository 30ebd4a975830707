import { program } from './program.js'

program(process.env).then(console.log)
