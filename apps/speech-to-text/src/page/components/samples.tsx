import meterReading from '../../../samples/meter-reading.wav?url'
import orderNumber from '../../../samples/order-number.wav?url'
import parcelCode from '../../../samples/parcel-code.wav?url'

const samples = [
  { label: 'Order number', name: 'order-number.wav', url: orderNumber },
  { label: 'Parcel code', name: 'parcel-code.wav', url: parcelCode },
  { label: 'Meter reading', name: 'meter-reading.wav', url: meterReading },
]

interface SamplesProps {
  readonly onSample: (name: string, wav: Blob) => void
  readonly onError: (message: string) => void
}

/** Recordings to start with. */
export function Samples({ onSample, onError }: SamplesProps) {
  const load = async (name: string, url: string): Promise<void> => {
    try {
      onSample(name, await (await fetch(url)).blob())
    } catch {
      onError(`${name} could not be loaded.`)
    }
  }
  return (
    <div class="samples" role="group" aria-label="Samples">
      <span>Or try a sample:</span>
      {samples.map(({ name, url, label }) => (
        <button key={name} type="button" class="link" onClick={() => void load(name, url)}>
          {label}
        </button>
      ))}
    </div>
  )
}
