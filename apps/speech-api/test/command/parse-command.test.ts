import process from 'node:process'
import { expect, test } from 'vitest'
import { parseCommand } from '../../src/command/parse-command.ts'

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
])('the arguments %s are split, and nothing else is done to them', (line, words) => {
  const split = wordsOf(line)
  if (typeof words === 'string') expect(split.join(' ')).toBe(words)
  else expect(split).toEqual(words)
})

test('the name of a recording is no pattern', () => {
  expect(parseCommand(`"${node}" {file}`).argumentsFor('$&{file}')).toEqual(['$&{file}'])
})

test('the program is looked for where the path says', () => {
  expect(parseCommand('node {file}', node.replace(/\/node$/, '')).program).toBe(node)
})

test.each([
  ['', 'The command of the speech engine is empty: name a program.'],
  ['  ', 'The command of the speech engine is empty: name a program.'],
  ['node -i "{file}', 'has a quote that is not closed, or ends in a backslash: node -i "{file}'],
  ["node 'it's {file}'", 'has a quote that is not closed, or ends in a backslash'],
  ['node {file} \\', 'has a quote that is not closed, or ends in a backslash'],
  [
    'node -i file.wav',
    'has no {file} among its arguments, where the recording is to stand: node -i file.wav',
  ],
  ['{file}', 'has no {file} among its arguments'],
  ['no-such-program {file}', "The speech engine's program no-such-program was not found"],
  [
    `${import.meta.filename} {file}`,
    '/parse-command.test.ts was not found: install it, or write its whole path.',
  ],
])('"%s" is refused with a sentence', (line, sentence) => {
  expect(() => parseCommand(line)).toThrow(sentence)
})
