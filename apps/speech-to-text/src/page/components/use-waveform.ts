import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type WaveSurfer from 'wavesurfer.js'
import type RegionsPlugin from 'wavesurfer.js/plugins/regions'
import type { TimedWord } from '../downloads/subtitles.ts'

export interface Colours {
  readonly wave: string
  readonly played: string
  readonly word: string
  readonly otherWord: string
  readonly text: string
}

/** The colours of the page for canvases, light or dark as the system prefers. */
function useThemeColours(): Colours {
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
  // A canvas takes only a colour in which nothing is left to compute.
  const probe = document.body.appendChild(document.createElement('span'))
  const colour = (name: string): string => {
    probe.style.color = `var(--${name})`
    return getComputedStyle(probe).color
  }
  const colours = {
    wave: colour('wave'),
    played: colour('played'),
    word: colour('wave-word'),
    otherWord: colour('wave-other-word'),
    text: colour('text'),
  }
  probe.remove()
  return colours
}

export interface Player {
  toggle(): void
  /** @param end in seconds, by default the end of the recording */
  play(start: number, end?: number): void
}

interface Drawing {
  readonly surfer: WaveSurfer
  readonly regions: ReturnType<typeof RegionsPlugin.create>
}

/** Loads what draws a recording: a page without one does not need it. */
async function loadDrawing(): Promise<(container: HTMLElement) => Drawing> {
  const [{ default: Surfer }, { default: Regions }] = await Promise.all([
    import('wavesurfer.js'),
    import('wavesurfer.js/plugins/regions'),
  ])
  return (container) => {
    const regions = Regions.create()
    const options = { height: 96, barWidth: 2, barGap: 1, normalize: true, plugins: [regions] }
    return { surfer: Surfer.create({ container, ...options }), regions }
  }
}

/**
 * Draws and plays a recording with its words.
 *
 * @param onTime called with the position of the player, in seconds
 */
export function useWaveform(wav: Blob, words: readonly TimedWord[], onTime: (seconds: number) => void) {
  const container = useRef<HTMLDivElement>(null)
  const creating = useRef<Promise<Drawing | void>>(undefined)
  const [drawing, setDrawing] = useState<Drawing>()
  const [ready, setReady] = useState(false)
  const [playing, setPlaying] = useState(false)
  const [playable, setPlayable] = useState(true)
  const colours = useThemeColours()

  useEffect(() => {
    let shown = true
    const create = async () => {
      const draw = await loadDrawing()
      if (!shown) return undefined
      const created = draw(container.current!)
      const { surfer } = created
      surfer.on('ready', () => setReady(true))
      surfer.on('play', () => setPlaying(true))
      surfer.on('pause', () => setPlaying(false))
      surfer.on('timeupdate', (seconds) => (seconds > 0 || surfer.isPlaying()) && onTime(seconds))
      // A recording that the browser cannot play may still be transcribed.
      surfer.on('error', () => setPlayable(false))
      surfer.loadBlob(wav).catch(() => {})
      setDrawing(created)
      return created
    }
    // Nor can one be played if the code does not load.
    const drawn = create().catch(() => setPlayable(false))
    creating.current = drawn
    return () => {
      shown = false
      void drawn.then((created) => created?.surfer.destroy())
    }
  }, [wav])

  useEffect(() => {
    drawing?.surfer.setOptions({
      waveColor: colours.wave,
      progressColor: colours.played,
      cursorColor: colours.text,
    })
  }, [colours, drawing])

  useEffect(() => {
    if (!ready) return
    drawing?.regions.clearRegions()
    for (const [index, { start, end }] of words.entries()) {
      // Two alternating shades separate neighbouring words.
      const color = index % 2 === 0 ? colours.word : colours.otherWord
      drawing?.regions.addRegion({ start, end, drag: false, resize: false, color })
    }
  }, [ready, drawing, words, colours])

  const player = useMemo<Player>(
    () => ({
      toggle: () => void creating.current?.then((created) => created?.surfer.playPause()),
      play: (start, end) => void creating.current?.then((created) => created?.surfer.play(start, end)),
    }),
    [],
  )
  return { container, playable, playing, player }
}
