import process from 'node:process'
import { expect, test } from 'vitest'
import { parseCommand } from '../../../src/engines/command/parse-command.ts'

const node = process.execPath
const wordsOf = (args: string) => parseCommand(`"${node}" ${args}`).argumentsFor('/tmp/a recording.wav')

test.each([
  ['-infile {file} -time yes', ['-infile', '/tmp/a recording.wav', '-time', 'yes']],
  ['--input={file}', ['--input=/tmp/a recording.wav']],
  ['{file} {file}', ['/tmp/a recording.wav', '/tmp/a recording.wav']],
  [`-m 'my models/large.bin' "{file}"`, ['-m', 'my models/large.bin', '/tmp/a recording.wav']],
  [String.raw`my\ model {file}`, ['my model', '/tmp/a recording.wav']],
  [`'' "" {file}`, ['', '', '/tmp/a recording.wav']],
  [
    '{file} ; rm -rf $HOME `id` $(id) | tee > all &',
    '/tmp/a recording.wav ; rm -rf $HOME `id` $(id) | tee > all &',
  ],
])('splits the arguments without interpreting anything else: %s', (line, words) => {
  const split = wordsOf(line)
  if (typeof words === 'string') expect(split.join(' ')).toBe(words)
  else expect(split).toEqual(words)
})

test('does not interpret the path of the recording', () => {
  expect(parseCommand(`"${node}" {file}`).argumentsFor('$&{file}')).toEqual(['$&{file}'])
})

test('finds the program in PATH', () => {
  expect(parseCommand('node {file}', node.replace(/\/node$/, '')).program).toBe(node)
})

test.each([
  ['', 'The command is empty. Set a program and its arguments.'],
  ['  ', 'The command is empty. Set a program and its arguments.'],
  ['node -i "{file}', 'The command has an unclosed quote or ends with a backslash: node -i "{file}'],
  ["node 'it's {file}'", 'The command has an unclosed quote or ends with a backslash'],
  ['node {file} \\', 'The command has an unclosed quote or ends with a backslash'],
  ['node -i file.wav', 'No argument of "node -i file.wav" contains {file}. Add it'],
  ['{file}', 'No argument of "{file}" contains {file}'],
  ['no-such-program {file}', 'The program "no-such-program" was not found'],
  [
    `${import.meta.filename} {file}`,
    '/parse-command.test.ts" was not found. Install it, or set its full path.',
  ],
])('rejects "%s"', (line, sentence) => {
  expect(() => parseCommand(line)).toThrow(sentence)
})
