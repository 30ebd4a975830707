import { useEffect, useState } from 'preact/hooks'

export interface Colours {
  readonly wave: string
  readonly played: string
  readonly word: string
  readonly otherWord: string
  readonly text: string
}

/** The colours of the page for canvases, light or dark as the system prefers. */
export function useThemeColours(): Colours {
  const [colours, setColours] = useState(readColours)
  useEffect(() => {
    const dark = matchMedia('(prefers-color-scheme: dark)')
    const update = () => setColours(readColours())
    dark.addEventListener('change', update)
    return () => dark.removeEventListener('change', update)
  }, [])
  return colours
}

function readColours(): Colours {
  const style = getComputedStyle(document.documentElement)
  const colour = (name: string) => style.getPropertyValue(`--${name}`).trim()
  return {
    wave: colour('wave'),
    played: colour('played'),
    word: colour('wave-word'),
    otherWord: colour('wave-other-word'),
    text: colour('text'),
  }
}
