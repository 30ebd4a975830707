// Repeats every request more often.
import '../storage/instances.integration.test.ts'
