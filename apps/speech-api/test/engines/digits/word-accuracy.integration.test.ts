import { describeAccuracy, speakers } from './describe-accuracy.ts'

describeAccuracy(speakers.slice(0, 2), 4, { sentences: 4 })
