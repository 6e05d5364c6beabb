/*
 * Client libraries of shops, made for the API Pix of other institutions and unchanged, each with what its users
 * configure: credentials, certificate, key. Their hosts are constants; here, as with a hosts file, those lead to a proxy
 * that ends TLS, asks for a certificate, and knows the paths of each institution. Runs under Node.
 *
 * Writes `proxy <port>`, then for each client `charge <name> <txid>` when it can be paid and `done <name> <endToEndId>`
 * when it was found paid and given back. Serves clients in other languages until its standard input ends.
 */
import http from 'node:http'
import https from 'node:https'
import { createRequire } from 'node:module'
import { setTimeout } from 'node:timers/promises'
import tls from 'node:tls'

const given = JSON.parse(process.argv[2])

const paths = [
  ['/api/v2/', '/pix/v2/'],
  ['/v2/', '/pix/v2/'],
  ['/oauth/', '/oauth/'],
]

const forward = (request, response) => {
  const certificate = request.socket.getPeerCertificate().raw.toString('base64')
  const [from, to] = paths.find(([prefix]) => request.url.startsWith(prefix))
  const options = {
    // A connection that is kept may be closed by the other side just as it is used again.
    agent: false,
    method: request.method,
    headers: { ...request.headers, 'client-cert': `:${certificate}:` },
  }
  const url = given.gateway + to + request.url.slice(from.length)
  const onward = http.request(url, options, (answer) => {
    response.writeHead(answer.statusCode, answer.headers)
    answer.pipe(response)
  })
  onward.on('error', () => response.destroy())
  request.pipe(onward)
}

const proxy = https.createServer({ ...given.proxy, requestCert: true }, forward)
await new Promise((resolve) => {
  proxy.listen(0, '127.0.0.1', resolve)
})
const { port } = proxy.address()
process.stdout.write(`proxy ${port}\n`)

const connect = tls.connect
tls.connect = (options, ...more) => {
  const { host } = options
  const leads = options.port === 443 ? { host: '127.0.0.1', port, servername: host } : {}
  return connect({ ...options, ...leads }, ...more)
}

const require = createRequire(`${given.packages}/`)

const efi = () => {
  const EfiPay = require('sdk-node-apis-efi')
  const { id, secret, certificate, key, pixKey } = given.client
  const api = new EfiPay({
    ...{ sandbox: true, client_id: id, client_secret: secret, certificate, pemKey: key },
  })
  return {
    hook: (webhookUrl) => api.pixConfigWebhook({ chave: pixKey }, { webhookUrl }),
    charge: (txid) => {
      const body = { calendario: { expiracao: 3600 }, valor: { original: '37.00' }, chave: pixKey }
      return api.pixCreateCharge({ txid }, body)
    },
    find: (txid) => api.pixDetailCharge({ txid }),
    giveBack: (e2eId, id, valor) => api.pixDevolution({ e2eId, id }, { valor }),
    givenBack: (e2eId, id) => api.pixDetailDevolution({ e2eId, id }),
  }
}

const sicredi = () => {
  const { PixSicredi } = require('data7-pix')
  const { id, secret, certificate, key, pixKey } = given.client
  const api = PixSicredi.config({
    ...{ cert_path: certificate, key_path: key, ca_path: '', chave_pix: pixKey },
    ...{ client_id: id, client_secret: secret, sandbox: true },
  })
  return {
    hook: (url) => api.registrar_webhook(url),
    charge: (txid) => api.criar_cobranca({ tx_id: txid, valor: '37.00' }),
    find: async (txid) => {
      const { recebimentos, ...charge } = await api.consultar_cobranca(txid)
      return { ...charge, pix: recebimentos }
    },
    giveBack: (e2eid, id, valor) => api.devolver_pix_recebido(e2eid, id, valor),
    givenBack: (e2eid, id) => api.consultar_pix_devolvido(e2eid, id),
  }
}

const becomes = async (status, ask) => {
  for (;;) {
    const found = await ask()
    if (found.status === status) return found
    await setTimeout(30)
  }
}

for (const [name, make] of Object.entries({ efi, sicredi })) {
  const api = make()
  const txid = given.txids[name]
  await api.hook(given.hook)
  await api.charge(txid)
  process.stdout.write(`charge ${name} ${txid}\n`)
  const { pix } = await becomes('CONCLUIDA', () => api.find(txid))
  const [{ endToEndId }] = pix
  await api.giveBack(endToEndId, 'd1', '1.00')
  await becomes('DEVOLVIDO', () => api.givenBack(endToEndId, 'd1'))
  process.stdout.write(`done ${name} ${endToEndId}\n`)
}

process.stdin.on('end', () => process.exit(0)).resume()
