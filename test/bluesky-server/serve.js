'use strict'
// Runs a genuine Bluesky personal data server (PDS) and the DID directory that it needs, on loopback and with
// temporary data. It prints one JSON line when both are ready, and stops when its standard input closes, so it does
// not outlive the tests.
//
//   {"ready":true,"pds":"http://localhost:PORT","plc":"http://localhost:PORT","jwt_secret":"..."}
//
// PDS_LIMITS=1 turns the server's rate limits on. They are off by default.

const crypto = require('node:crypto')
const fs = require('node:fs')
const net = require('node:net')
const os = require('node:os')
const path = require('node:path')

process.env.NODE_ENV = 'test'
process.env.LOG_ENABLED = 'false'

// Neither server has an option for its listen address. By default, both listen on all interfaces.
function bindLoopbackOnly() {
  const listen = net.Server.prototype.listen
  net.Server.prototype.listen = function (first, ...rest) {
    const given = typeof first === 'object' && first !== null ? first : { port: Number(first) }
    const callback = rest.find((argument) => typeof argument === 'function')
    return listen.call(this, { ...given, host: '127.0.0.1' }, callback)
  }
}

// The servers do not accept port 0, so find a free port first.
function freePort() {
  return new Promise((resolve, reject) => {
    const probe = net.createServer()
    probe.once('error', reject)
    probe.listen(0, () => {
      const { port } = probe.address()
      probe.close(() => resolve(port))
    })
  })
}

function settings(port, directoryPort, dir, jwtSecret) {
  return {
    devMode: true,
    hostname: 'localhost',
    port,
    dataDirectory: path.join(dir, 'data'),
    blobstoreDiskLocation: path.join(dir, 'blobs'),
    didPlcUrl: `http://localhost:${directoryPort}`,
    serviceHandleDomains: ['.test'],
    inviteRequired: false,
    disableSsrfProtection: true, // both servers are on loopback
    adminPassword: crypto.randomBytes(16).toString('hex'),
    jwtSecret,
    plcRotationKeyK256PrivateKeyHex: crypto.randomBytes(32).toString('hex'),
    // The server requires these names to start. No services run at them.
    bskyAppViewUrl: 'https://appview.invalid',
    bskyAppViewDid: 'did:example:appview',
    modServiceUrl: 'https://moderation.invalid',
    modServiceDid: 'did:example:moderation',
    rateLimitsEnabled: process.env.PDS_LIMITS === '1',
  }
}

async function main() {
  bindLoopbackOnly()
  const { PDS, envToCfg, envToSecrets } = require('@atproto/pds')
  const { Database, PlcServer } = require('@did-plc/server')

  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'pressroom-pds-'))
  process.on('exit', () => fs.rmSync(dir, { recursive: true, force: true }))
  fs.mkdirSync(path.join(dir, 'data'))

  const directoryPort = await freePort()
  const directory = PlcServer.create({ db: Database.mock(), port: directoryPort })
  await directory.start()

  const port = await freePort()
  const jwtSecret = crypto.randomBytes(16).toString('hex')
  const env = settings(port, directoryPort, dir, jwtSecret)
  const pds = await PDS.create(envToCfg(env), envToSecrets(env))
  await pds.start()

  let stopping = false
  const stop = async () => {
    if (stopping) return
    stopping = true
    setTimeout(() => process.exit(1), 5000).unref() // exit even if a connection hangs
    await pds.destroy()
    await directory.destroy()
    process.exit(0)
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  process.stdin.on('end', stop).on('error', stop).resume()

  console.log(JSON.stringify({
    ready: true,
    pds: `http://localhost:${port}`,
    plc: `http://localhost:${directoryPort}`,
    jwt_secret: jwtSecret, // lets tests create expired tokens
  }))
}

main().catch((error) => {
  console.error(error)
  process.exit(1)
})
