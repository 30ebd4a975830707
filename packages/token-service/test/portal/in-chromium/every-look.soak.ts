// Checks each page in each look.
import './administration.integration.test.ts'
import './approval.integration.test.ts'
import './first-token.integration.test.ts'
import './reference.integration.test.ts'
import './rotation.integration.test.ts'
