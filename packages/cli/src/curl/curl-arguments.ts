import { UsageError } from '../usage-error.ts'

// Options of curl that change neither the receiver of the request nor how it is verified. Left out on purpose: proxies,
// other addresses and URLs, configuration files, and redirects, along which curl before 7.83 sends the token.

/** Their values become a part of the request's head, where a line break would start another header. */
const inHeaders = '-A/--user-agent -b/--cookie -e/--referer -H/--header -r/--range -X/--request'.split(' ')

const withValue = `
  -d/--data --data-ascii --data-binary --data-raw --data-urlencode --json -F/--form --form-string -T/--upload-file
  --url-query --expect100-timeout -z/--time-cond --etag-compare --etag-save -C/--continue-at
  -o/--output --output-dir -D/--dump-header -c/--cookie-jar -w/--write-out
  -m/--max-time --connect-timeout --limit-rate --max-filesize -y/--speed-time -Y/--speed-limit
  --retry --retry-delay --retry-max-time
  --cacert --capath -E/--cert --cert-type --key --key-type --pass --pinnedpubkey`
  .trim()
  .split(/\s+/)
  .concat(inHeaders)

const withoutValue = `
  -G/--get -I/--head -g/--globoff --compressed -f/--fail --fail-with-body --retry-all-errors --retry-connrefused
  -i/--include -s/--silent -S/--show-error -v/--verbose -#/--progress-bar --no-progress-meter -N/--no-buffer
  -O/--remote-name -J/--remote-header-name --create-dirs --no-clobber --remove-on-error
  -4/--ipv4 -6/--ipv6 -0/--http1.0 --http1.1 --http2 --http3 --tlsv1.2 --tlsv1.3`
  .trim()
  .split(/\s+/)

/** Whether an option has a value, by each of its names. */
const hasValue = new Map(
  [withValue, withoutValue].flatMap((names) =>
    names.flatMap((each) => each.split('/')).map((name) => [name, names === withValue] as const),
  ),
)

/** Options by their exact names: curl also accepts the beginnings of long ones. */
export const allowedOptionsHelp = `
Allowed options of curl, by these exact names (… is a value); short ones can be combined:
${wrap([...withoutValue, ...withValue.map((names) => `${names} …`)])}
`

/** @throws {UsageError} for arguments with which curl could send the token elsewhere */
export function checkArguments(args: readonly string[]): void {
  const rest = [...args]
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    if (!arg.startsWith('-')) {
      throw new UsageError(
        'The arguments for curl contain a value without an option. Only one URL is allowed, because curl would send the token to all of them.',
      )
    }
    const isLong = arg.startsWith('--')
    const name = isLong ? arg : arg.slice(0, 2)
    const attached = isLong ? '' : arg.slice(2)
    const isFlag = hasValue.get(name) === false
    if (!hasValue.has(name) || (isFlag && attached.startsWith('-'))) {
      throw new UsageError(
        `${name.replace(/=.*/s, '')} is not an allowed option of curl. "tokenwell curl --help" lists those that are.`,
      )
    }
    if (!isFlag) checkValue(name, attached || (rest.shift() ?? ''))
    else if (attached) rest.unshift(`-${attached}`)
  }
}

/** By its `Host`, a server shared by several sites chooses the one that receives the token. */
function checkValue(option: string, value: string): void {
  if (/^(?:-H|--header)$/.test(option) && /^\s*(?:host|authorization)\s*[:;]|^@/i.test(value)) {
    throw new UsageError(
      `${option} must be a header other than Host and Authorization, and cannot be read from a file.`,
    )
  }
  if (/[\r\n]/.test(value) && inHeaders.some((names) => names.split('/').includes(option)))
    throw new UsageError(`The value of ${option} contains a line break.`)
}

function wrap(words: readonly string[]): string {
  return words
    .join(', ')
    .replaceAll(/(.{1,110})(?: (?!…)|$)/g, '  $1\n')
    .trimEnd()
}
