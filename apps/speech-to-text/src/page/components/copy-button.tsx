import { useEffect, useState } from 'preact/hooks'

/** Copies a text to the clipboard, and confirms it. */
export function CopyButton({ text }: { text: string }) {
  const [label, setLabel] = useState('Copy text')
  useEffect(() => {
    if (label === 'Copy text') return undefined
    const timer = setTimeout(() => setLabel('Copy text'), 2_000)
    return () => clearTimeout(timer)
  }, [label])
  const copy = (): Promise<void> =>
    navigator.clipboard.writeText(text).then(
      () => setLabel('Copied'),
      () => setLabel('Copy failed'),
    )
  return (
    <button type="button" class="quiet copy" aria-live="polite" onClick={() => void copy()}>
      {label}
    </button>
  )
}
