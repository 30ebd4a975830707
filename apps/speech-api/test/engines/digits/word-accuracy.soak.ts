import { describeAccuracy, speakers } from './describe-accuracy.ts'

describeAccuracy(speakers, 20)
