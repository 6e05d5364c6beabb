import { defineErrors } from '#src/platform/http/index.ts'

/** Errors of importing and reading certificates, besides those that every feature shares. */
export const certificateErrors = defineErrors({
  certificate_wrong_password: {
    status: 422,
    title: 'Wrong password',
    meaning:
      'The password does not open the PKCS#12 file, which is otherwise whole, or the encrypted key of the PEM, or it is missing.',
    remedy: 'Send the password the file was made with.',
  },
  certificate_unreadable: {
    status: 422,
    title: 'Certificate file not readable',
    meaning: 'The file is damaged, of another kind, or over a limit; detail says which.',
    remedy: 'Export the file again, as PKCS#12 or PEM.',
  },
  certificate_unusable: {
    status: 422,
    title: 'Certificate not usable',
    meaning: 'Key, chain, key usage or validity does not fit the purpose; errors lists every rule.',
    remedy: 'Ask the certificate authority for a certificate that fits.',
  },
  certificate_exists: {
    status: 409,
    title: 'Certificate exists',
    meaning:
      'There is a certificate of this ISPB, type and version, or was one, or the same certificate under another version; versions are never replaced, nor given to another certificate.',
    remedy:
      'Import under the next version, or leave the version out. To add the key of one that is stored without it, remove that one first.',
  },
  certificate_store_read_only: {
    status: 409,
    title: 'Certificate store is read-only',
    meaning: 'Certificates are read from a folder, which the gateway does not write.',
    remedy: 'Place the files in the folder, or configure a database and TRILHO_MASTER_KEY.',
  },
  certificate_key_missing: {
    status: 409,
    title: 'No private key',
    meaning: 'The operation needs the private key, and only the certificate is stored.',
    remedy: 'Remove the certificate, then import it together with its key.',
  },
})

/** Thrown by the database store for keys while it has no master key. */
export class MasterKeyMissingError extends Error {
  override readonly name = 'MasterKeyMissingError'
  constructor() {
    super('private keys are sealed under TRILHO_MASTER_KEY, which is not set')
  }
}
