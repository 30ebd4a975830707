// Tries every variation of each recording.
import './recordings.test.ts'
