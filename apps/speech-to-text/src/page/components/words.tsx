import { useRef, useState } from 'preact/hooks'
import type { Word } from '../words.ts'

interface WordsProps {
  readonly words: readonly Word[]
  /** Where in the recording the sound is; undefined before it was played. */
  readonly seconds: number | undefined
  readonly onPick: (word: Word) => void
}

/** The transcript: each word is a button that lets it be heard. One stop for Tab, arrows go from word to word. */
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

  if (words.length === 0) return <p class="words">Nothing was said.</p>
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
