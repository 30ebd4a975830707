import { describe, expect, it } from 'vitest'
import { foldName, sortName } from '../../src/storage/folded-name.ts'

describe('a folded name', () => {
  it.each([
    ['Émile', 'emile'],
    ['E\u0301MILE', 'emile'],
    ['Ångström', 'angstrom'],
    ['STRASSE 9', 'strasse 9'],
    ['Straße 9', 'strasse 9'],
    ['GROẞ', 'gross'],
    ['Øresund Łódź Œuvre', 'oresund lodz oeuvre'],
    ['İstanbul ılık', 'istanbul ilik'],
    ['ＦＵＬＬ　ＷＩＤＴＨ　７', 'full width 7'],
    ['ﬁle №5', 'file no5'],
    ['ｺｰﾙｾﾝﾀｰ', 'コールセンター'],
    ['لُغَةٌ أهلاً خـــدمة', 'لغة اهلا خدمة'],
    ['שָׁלוֹם', 'שלום'],
  ])('%s is %s', (name, folded) => {
    expect(foldName(name)).toBe(folded)
  })

  it('keeps the marks that make other letters', () => {
    expect(foldName('ガ')).not.toBe(foldName('カ'))
    expect(foldName('हिन्दी')).toBe('हिन्दी')
    expect(foldName('한국어')).toBe('한국어')
  })

  it('sorts numbers by their value, in every script', () => {
    const sorted = [
      'application 1',
      'Application 2',
      'application 010',
      'application 100',
      'Émile',
      'z',
      'コ',
    ]
    const byBytes = (a: string, b: string) =>
      Buffer.compare(Buffer.from(sortName(a)), Buffer.from(sortName(b)))
    expect(sorted.toReversed().toSorted(byBytes)).toEqual(sorted)
  })
})
