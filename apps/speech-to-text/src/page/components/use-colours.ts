import { useEffect, useState } from 'preact/hooks'

export interface Colours {
  readonly wave: string
  readonly played: string
  readonly word: string
  readonly otherWord: string
  readonly text: string
}

/** The page's colours, for what is drawn on a canvas: light or dark as the user's system is. */
export function useColours(): Colours {
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
