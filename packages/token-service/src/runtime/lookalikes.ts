import type { z } from 'zod'

// UTS 39, section 5.2, "highly restrictive": one of the recommended scripts (UAX 31, table 5), or what is written together.
const recommended =
  'Latn Arab Armn Beng Bopo Cyrl Deva Ethi Geor Grek Gujr Guru Hang Hani Hebr Hira Kana Khmr Knda Laoo Mlym Mymr Orya Sinh Taml Telu Thaa Thai Tibt'
const together = ['Latn Hani Hira Kana', 'Latn Hani Bopo', 'Latn Hani Hang']
const writingSystems = [...recommended.split(' '), ...together].map((scripts) => {
  const allowed = ['Zyyy', 'Zinh', ...scripts.split(' ')].map((script) => String.raw`\p{scx=${script}}`)
  return new RegExp(`^[${allowed.join('')}]*$`, 'u')
})
// Letters that look like Latin ones: a name of these alone can be read as another.
const lookalikes = /^[аеорсухіјѕһԁԛԝвмнтк αικνορτυχγ օսոհցԼ._@+\p{Nd}-]+$/u

/** A name without differences of case and width: the same person or project for everybody. */
export function unifiedName(name: string): string {
  return name.normalize('NFKC').toLowerCase()
}

/** What a name must do so that it cannot be read as another one; `undefined` if it does. */
function deception(text: string): string | undefined {
  const name = unifiedName(text)
  if (!/^\P{Default_Ignorable_Code_Point}*$/u.test(name)) return 'must not contain invisible characters'
  if (!/^(?:\d|\P{Nd})*$/u.test(name)) return 'must use the digits 0 to 9'
  if (!writingSystems.some((system) => system.test(name))) return 'must use the letters of one script'
  if (lookalikes.test(name) && !/^\p{ASCII}*$/u.test(name)) return 'must use Latin letters'
  return undefined
}

/** A check of a schema. */
export function notDeceptive(name: z.core.ParsePayload<string>): void {
  const message = deception(name.value)
  if (message !== undefined) name.issues.push({ code: 'custom', message, input: name.value })
}

/** What names that look alike have in common (UTS 39, section 4). */
export function skeleton(name: string): string {
  return name.replaceAll('0', 'o').replaceAll('1', 'l').replaceAll('rn', 'm')
}
