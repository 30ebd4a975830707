// Logs in more often while another address guesses.
import './log-in.integration.test.ts'
