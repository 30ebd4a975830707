import { useEffect, useRef, useState } from 'preact/hooks'
import type WaveSurfer from 'wavesurfer.js'

export interface TimedWord {
  readonly text: string
  /** Seconds from the start of the recording. */
  readonly start: number
  readonly end: number
}

/** The colours of the page: a canvas takes only one in which nothing is left to compute. */
function colourOf(element: Element, name: string): string {
  const probe = element.appendChild(document.createElement('span'))
  probe.style.color = `var(--${name})`
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}

/** Draws and plays a recording with its words. The code that draws is loaded with the first recording. */
export function useWaveform(wav: Blob, words: readonly TimedWord[] | undefined) {
  const container = useRef<HTMLDivElement>(null)
  const [surfer, setSurfer] = useState<WaveSurfer>()
  const [playing, setPlaying] = useState(false)
  const [seconds, setSeconds] = useState(-1)

  useEffect(() => {
    let created: WaveSurfer | undefined
    let isShown = true
    void import('wavesurfer.js').then(async ({ default: Surfer }) => {
      const element = container.current
      if (!isShown || !element) return
      created = Surfer.create({ container: element, height: 96, barWidth: 2, barGap: 1, normalize: true })
      const paint = () =>
        created?.setOptions({
          waveColor: colourOf(element, 'wave'),
          progressColor: colourOf(element, 'played'),
          cursorColor: colourOf(element, 'wave'),
        })
      for (const query of ['(prefers-color-scheme: dark)', '(forced-colors: active)'])
        matchMedia(query).addEventListener('change', paint)
      paint()
      created.on('play', () => setPlaying(true))
      created.on('pause', () => setPlaying(false))
      created.on('timeupdate', setSeconds)
      // A recording that the browser cannot play may still be transcribed.
      await created.loadBlob(wav).then(
        () => setSurfer(created),
        () => undefined,
      )
    })
    return () => {
      isShown = false
      created?.destroy()
    }
  }, [wav])

  useEffect(() => {
    if (!surfer || !words) return undefined
    let remove = () => {}
    void import('wavesurfer.js/plugins/regions').then(({ default: Regions }) => {
      const regions = surfer.registerPlugin(Regions.create())
      remove = () => regions.destroy()
      // Two alternating shades separate neighbouring words.
      for (const [index, { start, end }] of words.entries()) {
        const color = `var(--word-${index % 2})`
        regions.addRegion({ start, end, drag: false, resize: false, color })
      }
    })
    return () => remove()
  }, [surfer, words])

  const current = words?.findIndex(({ start, end }) => start <= seconds && seconds < end)
  return { container, surfer, playing, current }
}
