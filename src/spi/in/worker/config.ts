import { defineSettings, kind, type SettingValues, setting } from '#src/platform/config/index.ts'

/** How the worker treats received messages. */
export const workerSettings = defineSettings({
  trustedCertificates: setting('SPI_TRUSTED_CERTS_PATH', kind.pem(), {
    doc: 'Certificates (PEM, one after the other) that received messages may be signed with; without it signatures are not checked, which production refuses.',
  }),
  signaturePolicy: setting('SPI_SIGNATURE_POLICY', kind.oneOf('enforce', 'advisory'), {
    default: 'enforce',
    doc: 'What becomes of a received message without a signature by one of `SPI_TRUSTED_CERTS_PATH`: `enforce` keeps it as FAILED and in `dlq`, and it changes nothing; `advisory` stores it with a warning, and what it answers ends, but no return and nothing that asks about a mandate or charge.',
  }),
  autoAccept: setting('SPI_AUTO_ACCEPT', kind.boolean(), {
    default: 'false',
    doc: 'Answers every received pacs.008 and pacs.004 with a pacs.002 that accepts it, as a test institution does. Not for production, where the ledger decides and answers by `POST /v1/spi/send`.',
  }),
})

export type WorkerSettings = SettingValues<typeof workerSettings>
