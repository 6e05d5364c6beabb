import { defineSettings, kind, setting } from '#src/platform/config/index.ts'

/** Chooses where certificates are kept. */
export const certificateSettings = defineSettings({
  folder: setting('TRILHO_CERTS_DIR', kind.path(), {
    doc: 'Folder of certificates, read only: `<ispb>.<type>.<version>/tls.crt` and `tls.key`. Without it they are kept in the database.',
  }),
})
