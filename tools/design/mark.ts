import { palette } from './palette.ts'

/** The mark: a well with its water. It is the same in light and in dark. */
export const mark = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
  <rect width="32" height="32" rx="8" fill="${palette.light.accent}" />
  <path d="M8 12h16M11 12v12h10V12M16 6v9" fill="none" stroke="#fff" stroke-width="2.4" stroke-linecap="round" />
  <path d="M11 20h10v4H11z" fill="#8fe0d8" />
</svg>
`
