import { expect, test } from 'bun:test'
import { createLogger } from '#src/platform/observe/index.ts'
import { createTrust } from '#src/spi/out/signing/index.ts'
import { issueCertificate } from '../../../support/pki.ts'

test('that nobody is trusted by name is told at start', () => {
  const lines: string[] = []
  const logger = createLogger({ level: 'warn', sink: { write: (line) => lines.push(line) } })
  createTrust('A_PATH', undefined, logger).start()
  const bundle = { text: issueCertificate('Bank').cert, path: undefined }
  const trust = createTrust('B_PATH', bundle, logger)
  trust.start()
  trust.stop()
  expect(lines).toHaveLength(1)
  expect(lines[0]).toContain('A_PATH is not set: what comes is believed, whoever signed it')
})
