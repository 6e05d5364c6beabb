import { defineErrors } from '#src/platform/http/index.ts'

/** Errors of importing and reading certificates, besides those that every feature shares. */
export const certificateErrors = defineErrors({
  certificate_wrong_password: {
    status: 422,
    title: 'Wrong password',
    meaning:
      'The password does not open the PKCS#12 file, which is otherwise whole, or the encrypted key of the PEM, or it is missing.',
    remedy: 'Send the password the file was made with.',
    pt: {
      title: 'Senha errada',
      meaning:
        'A senha não abre o arquivo PKCS#12, que de resto está íntegro, nem a chave cifrada do PEM, ou falta.',
      remedy: 'Envie a senha com que o arquivo foi feito.',
    },
  },
  certificate_unreadable: {
    status: 422,
    title: 'Certificate file not readable',
    meaning: 'The file is damaged, of another kind, or over a limit; detail says which.',
    remedy: 'Export the file again, as PKCS#12 or PEM.',
    pt: {
      title: 'Arquivo de certificado ilegível',
      meaning: 'O arquivo está danificado, é de outro tipo ou passa de um limite; detail diz qual.',
      remedy: 'Exporte o arquivo de novo, como PKCS#12 ou PEM.',
    },
  },
  certificate_unusable: {
    status: 422,
    title: 'Certificate not usable',
    meaning: 'Key, chain, key usage or validity does not fit the purpose; errors lists every rule.',
    remedy: 'Ask the certificate authority for a certificate that fits.',
    pt: {
      title: 'Certificado inutilizável',
      meaning:
        'Chave, cadeia, uso da chave ou validade não servem à finalidade; errors lista cada regra.',
      remedy: 'Peça à autoridade certificadora um certificado que sirva.',
    },
  },
  certificate_exists: {
    status: 409,
    title: 'Certificate exists',
    meaning: 'There is a certificate of this ISPB, type and version; versions are never replaced.',
    remedy: 'Import under the next version, or leave the version out.',
    pt: {
      title: 'Certificado já existe',
      meaning: 'Há um certificado deste ISPB, tipo e versão; versões nunca são substituídas.',
      remedy: 'Importe com a próxima versão, ou omita a versão.',
    },
  },
  certificate_store_read_only: {
    status: 409,
    title: 'Certificate store is read-only',
    meaning: 'Certificates are read from a folder, which the gateway does not write.',
    remedy: 'Place the files in the folder, or configure a database and TRILHO_MASTER_KEY.',
    pt: {
      title: 'Repositório só de leitura',
      meaning: 'Os certificados são lidos de uma pasta, em que o gateway não escreve.',
      remedy: 'Ponha os arquivos na pasta, ou configure um banco de dados e TRILHO_MASTER_KEY.',
    },
  },
  certificate_key_missing: {
    status: 409,
    title: 'No private key',
    meaning: 'The operation needs the private key, and only the certificate is stored.',
    remedy: 'Import the certificate together with its key under the next version.',
    pt: {
      title: 'Sem chave privada',
      meaning: 'A operação precisa da chave privada, e só o certificado está guardado.',
      remedy: 'Importe o certificado com a sua chave, com a próxima versão.',
    },
  },
})

/** Thrown by the database store for keys while it has no master key. */
export class MasterKeyMissingError extends Error {
  override readonly name = 'MasterKeyMissingError'
  constructor() {
    super('private keys are sealed under TRILHO_MASTER_KEY, which is not set')
  }
}
