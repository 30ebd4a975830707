export { AudioError, type AudioErrorCode } from './audio-error.ts'
export { createSpeechApi } from './create-speech-api.ts'
export { type CommandEngineOptions, createCommandEngine } from './command/create-command-engine.ts'
export { createDigitsEngine, type DigitsEngineOptions } from './digits/create-digits-engine.ts'
export type { JobAnswer, TranscriptionAnswer } from './http/transcription-answer.ts'
export type { SpeechApiOptions } from './speech-api-options.ts'
export {
  EngineBusyError,
  EngineError,
  type EngineErrorCode,
  type EngineOptions,
  type SpeechEngine,
  type SpeechSegment,
  type Transcript,
} from './speech-engine.ts'
export { type RunningSpeechApi, startSpeechApi, type StartSpeechApiOptions } from './start-speech-api.ts'
