import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import WaveSurfer from 'wavesurfer.js'
import RegionsPlugin from 'wavesurfer.js/plugins/regions'
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

/**
 * Draws and plays a recording with its words.
 *
 * @param onTime called with the position of the player, in seconds
 */
export function useWaveform(wav: Blob, words: readonly TimedWord[], onTime: (seconds: number) => void) {
  const container = useRef<HTMLDivElement>(null)
  const surfer = useRef<WaveSurfer | undefined>(undefined)
  const regions = useRef<ReturnType<typeof RegionsPlugin.create> | undefined>(undefined)
  const [ready, setReady] = useState(false)
  const [playing, setPlaying] = useState(false)
  const [playable, setPlayable] = useState(true)
  const colours = useThemeColours()

  useEffect(() => {
    regions.current = RegionsPlugin.create()
    const wave = WaveSurfer.create({
      container: container.current!,
      height: 96,
      barWidth: 2,
      barGap: 1,
      normalize: true,
      plugins: [regions.current],
    })
    surfer.current = wave
    wave.on('ready', () => setReady(true))
    wave.on('play', () => setPlaying(true))
    wave.on('pause', () => setPlaying(false))
    wave.on('timeupdate', (seconds) => (seconds > 0 || wave.isPlaying()) && onTime(seconds))
    // A recording that the browser cannot play may still be transcribed.
    wave.on('error', () => setPlayable(false))
    wave.loadBlob(wav).catch(() => {})
    return () => wave.destroy()
  }, [wav])

  useEffect(() => {
    surfer.current?.setOptions({
      waveColor: colours.wave,
      progressColor: colours.played,
      cursorColor: colours.text,
    })
  }, [colours, wav])

  useEffect(() => {
    if (!ready) return
    regions.current?.clearRegions()
    for (const [index, { start, end }] of words.entries()) {
      // Two alternating shades separate neighbouring words.
      const color = index % 2 === 0 ? colours.word : colours.otherWord
      regions.current?.addRegion({ start, end, drag: false, resize: false, color })
    }
  }, [ready, words, colours])

  const player = useMemo<Player>(
    () => ({
      toggle: () => void surfer.current?.playPause(),
      play: (start, end) => void surfer.current?.play(start, end),
    }),
    [],
  )
  return { container, playable, playing, player }
}
