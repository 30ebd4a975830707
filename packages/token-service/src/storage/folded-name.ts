/** Letters that have no decomposition, as people write them without their keyboard. */
const letters: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ł: 'l',
  ħ: 'h',
  ı: 'i',
}

/**
 * Accents and points of the Latin, Greek, Cyrillic, Hebrew and Arabic scripts, and the line that stretches Arabic words:
 * what is not written, or not typed. The marks of other scripts make other letters.
 */
const marks =
  /[\u0300-\u036f]|[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7]|\u0640|[\u064b-\u065f\u0670]/g

/**
 * A name as searches compare it, in every database: without case, accents and width, so that `emile` finds `Émile`,
 * `strasse` finds `Straße`, and `full` finds `ＦＵＬＬ`.
 */
export function foldName(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(marks, '')
    .replaceAll(/[ßæœøđðþłħı]/g, (letter) => letters[letter] ?? letter)
    .normalize('NFC')
}

/** A folded name that sorts by its bytes as people count: `application 2` before `application 10`. */
export function sortName(name: string): string {
  return foldName(name).replaceAll(/\d+/g, (digits) => {
    const number = digits.replace(/^0+(?=\d)/, '')
    return `${String(Math.min(number.length, 99)).padStart(2, '0')}${number}`
  })
}

/** What is stored beside a name, to search and to sort by it. */
export interface NameColumns {
  readonly foldedName: string
  readonly sortName: string
}

export function nameColumns(name: string): NameColumns {
  return { foldedName: foldName(name), sortName: sortName(name) }
}
