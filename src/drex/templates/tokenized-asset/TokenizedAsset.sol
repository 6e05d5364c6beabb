// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {AccessControl} from '@openzeppelin/contracts/access/AccessControl.sol';
import {ERC20} from '@openzeppelin/contracts/token/ERC20/ERC20.sol';
import {ERC20Burnable} from '@openzeppelin/contracts/token/ERC20/extensions/ERC20Burnable.sol';
import {Pausable} from '@openzeppelin/contracts/utils/Pausable.sol';

/// @title A generic tokenized asset: ERC-20 with cap, pause and an optional allowlist.
contract TokenizedAsset is ERC20, ERC20Burnable, AccessControl, Pausable {
    bytes32 public constant PAUSER_ROLE = keccak256('PAUSER_ROLE');
    bytes32 public constant MINTER_ROLE = keccak256('MINTER_ROLE');
    bytes32 public constant ACCESS_ROLE = keccak256('ACCESS_ROLE');

    struct Terms {
        string name;
        string symbol;
        uint8 decimals;
        uint256 initialSupply;
        /// Largest total supply; zero leaves it open.
        uint256 cap;
        address owner;
        /// When set, both parties of every movement must be on the list.
        bool allowlisted;
        string metadataUri;
        bytes32 metadataHash;
    }

    uint8 private immutable _decimals;
    uint256 public immutable cap;
    bool public immutable allowlisted;
    string public metadataUri;
    bytes32 public metadataHash;
    mapping(address account => bool) public allowed;

    event AccountAllowed(address indexed account, bool allowed);
    event MetadataUpdated(string uri, bytes32 hash);

    error AccountNotAllowed(address account);
    error CapExceeded(uint256 supply, uint256 cap);

    constructor(Terms memory terms) ERC20(terms.name, terms.symbol) {
        _decimals = terms.decimals;
        cap = terms.cap;
        allowlisted = terms.allowlisted;
        metadataUri = terms.metadataUri;
        metadataHash = terms.metadataHash;
        _grantRole(DEFAULT_ADMIN_ROLE, terms.owner);
        _grantRole(PAUSER_ROLE, terms.owner);
        _grantRole(MINTER_ROLE, terms.owner);
        _grantRole(ACCESS_ROLE, terms.owner);
        _allow(terms.owner, true);
        if (terms.initialSupply != 0) _mint(terms.owner, terms.initialSupply);
    }

    function decimals() public view override returns (uint8) {
        return _decimals;
    }

    function mint(address to, uint256 amount) external onlyRole(MINTER_ROLE) {
        _mint(to, amount);
    }

    function setAllowed(address account, bool isAllowed) external onlyRole(ACCESS_ROLE) {
        _allow(account, isAllowed);
    }

    function setMetadata(string calldata uri, bytes32 hash) external onlyRole(DEFAULT_ADMIN_ROLE) {
        metadataUri = uri;
        metadataHash = hash;
        emit MetadataUpdated(uri, hash);
    }

    function pause() external onlyRole(PAUSER_ROLE) {
        _pause();
    }

    function unpause() external onlyRole(PAUSER_ROLE) {
        _unpause();
    }

    function _allow(address account, bool isAllowed) private {
        allowed[account] = isAllowed;
        emit AccountAllowed(account, isAllowed);
    }

    function _update(address from, address to, uint256 value) internal override whenNotPaused {
        if (allowlisted) {
            if (from != address(0) && !allowed[from]) revert AccountNotAllowed(from);
            if (to != address(0) && !allowed[to]) revert AccountNotAllowed(to);
        }
        super._update(from, to, value);
        if (from == address(0) && cap != 0 && totalSupply() > cap) {
            revert CapExceeded(totalSupply(), cap);
        }
    }
}
