import { fileURLToPath } from 'node:url'
import testRunner from '@nomicfoundation/hardhat-node-test-runner'
import viem from '@nomicfoundation/hardhat-viem'
import { defineConfig } from 'hardhat/config'

export default defineConfig({
  plugins: [viem, testRunner],
  solidity: {
    version: '0.8.37',
    // The compiler of package.json. Without this line, Hardhat downloads one.
    path: fileURLToPath(import.meta.resolve('solc/soljson.js')),
    // The registry that the tests deploy.
    npmFilesToBuild: ['@countersign/contracts/src/PolicyRegistry.sol'],
    settings: { evmVersion: 'cancun', optimizer: { enabled: true, runs: 10_000 } },
  },
})
