import { useEffect, useRef } from 'preact/hooks'
import type { History } from '../history/history.ts'

/** Offers to restore the recording that was removed last. */
export function UndoRemove({ history }: { history: History }) {
  const entry = history.removed.value
  const undo = useRef<HTMLButtonElement>(null)
  // The button that removed the recording had the focus, and is gone.
  useEffect(() => undo.current?.focus(), [entry])
  const focusStart = (): void => document.querySelector<HTMLElement>('.add button')?.focus()
  return (
    <div role="status">
      {entry && (
        <div class="card undo">
          <span class="name">Removed {entry.name}.</span>
          <button
            ref={undo}
            type="button"
            class="quiet"
            onClick={() => {
              history.restore()
              focusStart()
            }}
          >
            Undo
          </button>
          <button
            type="button"
            class="quiet"
            onClick={() => {
              history.dismissRemoved()
              focusStart()
            }}
          >
            Dismiss
          </button>
        </div>
      )}
    </div>
  )
}
