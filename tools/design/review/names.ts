/** Repeats the same sequence in each run: screenshots can be compared. */
export function createRandom(seed = 11): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const longApplication =
  'an-application-with-a-name-so-long-that-it-cannot-fit-into-any-column-of-any-table-on-any-screen-that-you-o'
const longProject =
  'Project-with-a-name-that-nobody-should-ever-type-but-that-the-form-accepts-so-it-will-be-typed-by-somebody-1'

/** Names as people choose them, in every script, and some that were chosen to break a page. */
export const hostile = {
  applications: [
    '音声文字起こしサービス',
    'خدمة تحويل الكلام إلى نص',
    longApplication,
    '🦊🎙️ fox-recorder 👩‍🚀',
    '<script>alert(1)</script> & "quotes"',
    'Émile batch',
    'Ångström sensors',
    'Straße 9 – Müller & Söhne',
    'ＦＵＬＬ　ＷＩＤＴＨ　７',
    'שירות תמלול',
    'ḩ̷̛̗ȩ̸̛l̶̢̎l̸̨̈ơ̷̢ marks above and below',
    'x',
    'application 1',
    'application 2',
    'application 10',
    'application 100',
  ],
  projects: [
    'コールセンター音声認識プラットフォーム',
    'منصة خدمة العملاء',
    longProject,
    '🎧 Contact centre 🚀',
    'Équipe Données',
    'Åland Øst',
    'Große Fußgängerüberwege',
  ],
  people: [
    'émile.durand',
    'åsa.öberg',
    'straße.müller',
    '田中さくら',
    'ليلى.حسن',
    'a-person-with-a-name-so-long-that-only-a-provider-of-identities-could-have-made-it-up-for-somebody',
    '🦊.fox',
  ],
} as const

export const subjects = [
  'payments',
  'loyalty',
  'search',
  'call-recording',
  'claims',
  'identity',
  'transcriber',
  'billing',
  'dispatch',
  'catalogue',
  'partner-portal',
  'onboarding',
] as const

export const roles = ['gateway', 'sync', 'batch', 'worker', 'export', 'listener', 'api', 'report'] as const

export const places = [
  'EMEA',
  'India',
  'Brazil',
  'Nordics',
  'Canada',
  'France',
  'Iberia',
  'Mexico',
  'Japan',
  'Kenya',
] as const

export const firstNames = [
  'mia',
  'noah',
  'lena',
  'omar',
  'ines',
  'yuki',
  'paul',
  'tara',
  'ivan',
  'zoe',
] as const
export const lastNames = [
  'okafor',
  'silva',
  'novak',
  'haddad',
  'lindqvist',
  'tanaka',
  'moreau',
  'weber',
] as const
