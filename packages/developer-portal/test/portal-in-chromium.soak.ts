// Checks each page in each look.
import './portal-in-chromium.integration.test.ts'
