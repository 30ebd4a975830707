import { useRef, useState } from 'preact/hooks'
import type { TimedWord } from '../timed-words.ts'

interface WordsProps {
  readonly words: readonly TimedWord[]
  /** Position of the player; undefined before it was played. */
  readonly seconds: number | undefined
  readonly onPick: (word: TimedWord) => void
}

/** The transcript: each word is a button that plays it. Tab stops once, the arrow keys move from word to word. */
export function Words({ words, seconds, onPick }: WordsProps) {
  const [focused, setFocused] = useState(0)
  const list = useRef<HTMLDivElement>(null)

  const move = (event: KeyboardEvent): void => {
    const target = { ArrowRight: focused + 1, ArrowLeft: focused - 1, Home: 0, End: words.length - 1 }[
      event.key
    ]
    if (target === undefined || !words[target]) return
    event.preventDefault()
    setFocused(target)
    list.current?.querySelectorAll('button')[target]?.focus()
  }

  if (words.length === 0) return <p class="no-words">No words recognised.</p>
  return (
    <div class="words" role="group" aria-label="Transcript" ref={list} onKeyDown={move}>
      {words.map((word, index) => (
        <button
          key={word.start}
          type="button"
          tabIndex={index === focused ? 0 : -1}
          aria-current={seconds !== undefined && word.start <= seconds && seconds < word.end}
          onFocus={() => setFocused(index)}
          onClick={() => onPick(word)}
        >
          {word.text}
        </button>
      ))}
    </div>
  )
}
